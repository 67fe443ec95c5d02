// The hub gives extensions this module; here it is found in the repository.
declare module 'poly/types' {
  export * from 'polyphony/types';
}
