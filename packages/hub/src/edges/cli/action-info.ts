/** A JSON Schema, as far as flags are made of it. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** An action as `GET /actions` answers it, or as the build has kept it. */
export interface ActionInfo {
  readonly name: string;
  readonly summary: string;
  readonly scope: string;
  readonly effect: string;
  readonly params: Schema;
  /** The noun or extension it belongs to, where the hub was asked. */
  readonly owner?: string;
}
