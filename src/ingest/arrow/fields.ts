import {
  Binary,
  Bool,
  type DataType,
  Date_,
  Decimal,
  Dictionary,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  List,
  Map_,
  Null,
  Struct,
  Time,
  Timestamp,
  Utf8,
} from 'apache-arrow';
import type { FlatTable } from './flatbuffer.ts';

/** How the values of a field lie in the body of a record batch; `type` is what they are once read. */
export interface ArrowField {
  readonly name: string;
  /** From the column on, for messages. */
  readonly path: string;
  readonly type: DataType;
  readonly layout: Layout;
  readonly children: readonly ArrowField[];
  /** Its values are numbers of entries in this dictionary. */
  readonly dictionary?: { readonly id: number; readonly values: ArrowField } | undefined;
}

export type Layout =
  | { readonly kind: 'null' | 'bool' | 'struct' | 'view' }
  /** `bits` a value. */
  | { readonly kind: 'fixed'; readonly bits: number }
  /** `offset`: bytes of one offset, 4 or 8. */
  | { readonly kind: 'bytes' | 'list'; readonly offset: 4 | 8 }
  | { readonly kind: 'fixed-list'; readonly size: number };

/** Fields of a schema, those inside others among them; more is no log but an attack. */
const MAX_FIELDS = 100_000;
const MAX_DEPTH = 100;

/**
 * The fields of a schema. Text and lists come as Utf8, Binary and List, whether they lie there so, with long offsets
 * or as views.
 * @throws errors: big-endian, a type that is not read (naming the column)
 */
export function arrowFields(schema: FlatTable): readonly ArrowField[] {
  if (schema.int16(0, 0) !== 0) throw new Error('its numbers are big-endian, which is not read');
  const count = { fields: 0 };
  const fields = schema.tables(1).map((field) => arrowField(field, field.text(0), 0, count));
  refuseTwice(fields);
  return fields;
}

/** Two columns of one name: a record holds one of them, and nothing says which. */
function refuseTwice(fields: readonly ArrowField[]): void {
  const names = new Set<string>();
  for (const { name, path } of fields) {
    if (names.has(name)) throw new Error(`column ${path} is there twice`);
    names.add(name);
  }
}

function arrowField(field: FlatTable, path: string, depth: number, count: { fields: number }): ArrowField {
  if (depth > MAX_DEPTH || ++count.fields > MAX_FIELDS)
    throw new Error('its schema is nested too deep, or too large');
  const name = field.text(0);
  const wire = field.byte(2, 0);
  const children = field.tables(5).map((child) => {
    const inner = LISTS.has(wire) ? `${path}[]` : wire === MAP ? path : `${path}.${child.text(0)}`;
    return arrowField(child, inner, depth + 1, count);
  });
  if (wire === STRUCT) refuseTwice(children);
  const [type, layout] = typeOf(wire, field.table(3), children, path);
  const encoding = field.table(4);
  const values: ArrowField = { name, path, type, layout, children };
  if (!encoding) return values;
  const index = encoding.table(1);
  const [indexType, indexLayout] = index
    ? int(index)
    : ([new Int(true, 32 as never), { kind: 'fixed', bits: 32 }] as const);
  const id = encoding.int64(0, 0);
  const dictionary = new Dictionary(type, indexType as never, id);
  return { name, path, type: dictionary, layout: indexLayout, children: [], dictionary: { id, values } };
}

/** Of `Type` in Schema.fbs. */
const STRUCT = 13;
const MAP = 17;
const LISTS: ReadonlySet<number> = new Set([12, 16, 21]);

function typeOf(
  wire: number,
  type: FlatTable | undefined,
  children: readonly ArrowField[],
  path: string,
): readonly [DataType, Layout] {
  const of = (expected: number): readonly Field[] => {
    if (children.length !== expected)
      throw new Error(`column ${path} has ${children.length} inner columns, expected ${expected}`);
    return children.map(arrowFieldType);
  };
  const fixed = (read: DataType, bits: number): readonly [DataType, Layout] => [
    read,
    { kind: 'fixed', bits },
  ];
  const parameters = type ?? NO_PARAMETERS;
  switch (wire) {
    case 1:
      return [new Null(), { kind: 'null' }];
    case 2:
      return int(parameters);
    case 3: {
      const precision = parameters.int16(0, 0);
      return fixed(new Float(precision as never), 16 << precision);
    }
    case 4:
      return [new Binary(), { kind: 'bytes', offset: 4 }];
    case 5:
      return [new Utf8(), { kind: 'bytes', offset: 4 }];
    case 6:
      return [new Bool(), { kind: 'bool' }];
    case 7: {
      const bits = parameters.int32(2, 128);
      return fixed(new Decimal(parameters.int32(1, 0), parameters.int32(0, 0), bits), bits);
    }
    case 8: {
      const unit = parameters.int16(0, 1);
      return fixed(new Date_(unit as never), unit === 0 ? 32 : 64);
    }
    case 9: {
      const bits = parameters.int32(1, 32);
      return fixed(new Time(parameters.int16(0, 1) as never, bits as never), bits);
    }
    case 10:
      return fixed(new Timestamp(parameters.int16(0, 0) as never, parameters.text(1) || null), 64);
    case 12:
    case 21:
      return [new List(of(1)[0]!), { kind: 'list', offset: wire === 12 ? 4 : 8 }];
    case STRUCT:
      return [new Struct(of(children.length) as Field[]), { kind: 'struct' }];
    case 15: {
      const bytes = parameters.int32(0, 0);
      return fixed(new FixedSizeBinary(bytes), 8 * bytes);
    }
    case 16: {
      const size = parameters.int32(0, 0);
      return [new FixedSizeList(size, of(1)[0]!), { kind: 'fixed-list', size }];
    }
    case MAP: {
      const [entries] = of(1);
      if (children[0]!.children.length !== 2)
        throw new Error(`column ${path} is a map without keys and values`);
      return [new Map_(entries as never), { kind: 'list', offset: 4 }];
    }
    case 19:
      return [new Binary(), { kind: 'bytes', offset: 8 }];
    case 20:
      return [new Utf8(), { kind: 'bytes', offset: 8 }];
    case 23:
      return [new Binary(), { kind: 'view' }];
    case 24:
      return [new Utf8(), { kind: 'view' }];
    default:
      throw new Error(
        `column ${path} is of type ${NOT_READ[wire] ?? `number ${wire}`}, which is not read: leave it out, or write Parquet`,
      );
  }
}

const NOT_READ: Readonly<Record<number, string>> = {
  11: 'Interval',
  14: 'Union',
  18: 'Duration',
  22: 'RunEndEncoded',
  25: 'ListView',
  26: 'LargeListView',
};

function int(type: FlatTable): readonly [Int, Layout] {
  const bits = type.int32(0, 0);
  if (![8, 16, 32, 64].includes(bits)) throw new Error(`a column of integers of ${bits} bits is not read`);
  return [new Int(type.byte(1, 0) !== 0, bits as never), { kind: 'fixed', bits }];
}

/** The field as apache-arrow knows it. */
export function arrowFieldType({ name, type }: ArrowField): Field {
  return new Field(name, type, true);
}

const NO_PARAMETERS: FlatTable = {
  byte: (_, absent) => absent,
  int16: (_, absent) => absent,
  int32: (_, absent) => absent,
  int64: (_, absent) => absent,
  text: () => '',
  table: () => undefined,
  tables: () => [],
  int64s: () => [],
  blocks: () => [],
};
