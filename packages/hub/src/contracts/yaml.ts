// Loaded when the first file in YAML is watched; it is bundled apart.
export { parse } from 'yaml';
