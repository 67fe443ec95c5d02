type Given = object;

/** What is wrong when not exactly one of these parameters is given; a flag that is false counts as not given. */
export function exactlyOne<P extends Given>(
  params: P,
  ...names: readonly (keyof P & string)[]
): string | undefined {
  return amongst(params, names).length === 1 ? undefined : `give exactly one of ${list(names)}`;
}

/** What is wrong when more than one of these parameters is given. */
export function atMostOne<P extends Given>(
  params: P,
  ...names: readonly (keyof P & string)[]
): string | undefined {
  const given = amongst(params, names);
  return given.length > 1 ? `${list(given, 'and')} exclude each other` : undefined;
}

function amongst<P extends Given>(params: P, names: readonly (keyof P & string)[]): readonly string[] {
  return names.filter((name) => params[name] !== undefined && params[name] !== false);
}

function list(names: readonly string[], joint = 'or'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${joint} ${names.at(-1)}`;
}
