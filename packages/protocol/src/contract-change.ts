/** What a contract is written in. */
export const contractFormats = ['jsonschema', 'openapi'] as const;
export type ContractFormat = (typeof contractFormats)[number];

/** Who meets a schema: those who write what it describes, those who read it, or nobody knows. */
export type Direction = 'request' | 'response' | 'unknown';

/**
 * Every kind of change, and whom it breaks: writers of a request, readers of a response, and somebody where the
 * direction is not known. What only grows breaks readers, what only shrinks breaks writers.
 */
export const changeKinds = {
  'type-narrowed': [true, false, true],
  'type-widened': [false, true, true],
  'type-changed': [true, true, true],
  'property-added': [false, false, false],
  'required-property-added': [true, false, true],
  'property-removed': [false, true, true],
  'property-refused': [true, true, true],
  'became-required': [true, false, true],
  'became-optional': [false, true, true],
  'additional-properties-closed': [true, false, true],
  'additional-properties-opened': [false, false, false],
  'enum-added': [true, false, true],
  'enum-removed': [false, true, true],
  'enum-value-added': [false, true, true],
  'enum-value-removed': [true, false, true],
  'format-added': [true, false, true],
  'format-removed': [false, true, false],
  'format-changed': [true, true, true],
  'pattern-added': [true, false, true],
  'pattern-removed': [false, true, false],
  'pattern-changed': [true, true, true],
  'bound-tightened': [true, false, true],
  'bound-loosened': [false, true, false],
  'bound-changed': [true, true, true],
  'variant-added': [false, true, true],
  'variant-removed': [true, false, true],
  'variants-added': [true, false, true],
  'variants-removed': [false, true, true],
  'keyword-changed': [true, true, true],
  'annotation-changed': [false, false, false],
  'schema-added': [false, false, false],
  'schema-removed': [true, true, true],
  'path-added': [false, false, false],
  'path-removed': [true, true, true],
  'operation-added': [false, false, false],
  'operation-removed': [true, true, true],
  'parameter-added': [false, false, false],
  'required-parameter-added': [true, true, true],
  'parameter-removed': [true, true, true],
  'parameter-became-required': [true, true, true],
  'parameter-became-optional': [false, false, false],
  'request-body-added': [false, false, false],
  'required-request-body-added': [true, true, true],
  'request-body-removed': [true, true, true],
  'request-body-became-required': [true, true, true],
  'request-body-became-optional': [false, false, false],
  'response-added': [false, false, false],
  'response-removed': [true, true, true],
  'media-type-added': [false, false, false],
  'media-type-removed': [true, true, true],
  'header-added': [false, false, false],
  'header-removed': [true, true, true],
  'format-of-document-changed': [true, true, true],
  'limit-reached': [true, true, true],
} as const;

export type ChangeKind = keyof typeof changeKinds;

const columns = { request: 0, response: 1, unknown: 2 } as const;

export function isBreaking(kind: ChangeKind, direction: Direction): boolean {
  return changeKinds[kind][columns[direction]];
}

/** One difference between two versions of a contract. */
export interface ContractChange {
  /** JSON pointer into the newer version, or into the older one for what is gone. */
  readonly path: string;
  readonly kind: ChangeKind;
  readonly breaking: boolean;
  readonly before?: unknown;
  readonly after?: unknown;
  /** The same as a sentence. */
  readonly message: string;
}

/** How two versions differ: what came, what went, what is otherwise, and whether somebody has to change with it. */
export interface ContractDiff {
  readonly added: readonly ContractChange[];
  readonly removed: readonly ContractChange[];
  readonly changed: readonly ContractChange[];
  readonly breaking: boolean;
}
