// Files of parquet-wasm, which is the `parquet` crate, from tables of Arrow.

import { kindOf, load, run } from './writer.mjs'

const arrow = load('apache-arrow')
const wasm = module('parquet-wasm/node/arrow1.js') ?? load('parquet-wasm')

/** The package had two modules, each for one crate of Arrow, up to 0.5. */
function module(name) {
  try {
    return load(name)
  } catch {
    return undefined
  }
}

const int = (bits, sign = '') => [new arrow[`${sign}nt${bits}`](), bits === 64 ? BigInt : undefined]
const text = new arrow.Utf8()
const number = new arrow.Int32()
const listOf = type => new arrow.List(new arrow.Field('item', type, true))
const structOf = fields => new arrow.Struct(Object.entries(fields).map(([name, type]) => new arrow.Field(name, type, true)))
const struct = structOf({ a: number, b: text })
const TYPES = {
  bool: [new arrow.Bool()], int8: int(8, 'I'), int16: int(16, 'I'), int32: int(32, 'I'), int64: int(64, 'I'),
  uint8: int(8, 'Ui'), uint16: int(16, 'Ui'), uint32: int(32, 'Ui'), uint64: int(64, 'Ui'), digit: [number],
  float: [new arrow.Float32()], double: [new arrow.Float64()], text: [text], word: [text],
  category: [new arrow.Dictionary(text, number)], binary: [new arrow.Binary(), value => new Uint8Array(Buffer.from(value, 'base64'))],
  date: [new arrow.DateDay(), value => new Date(value)],
  list_int: [listOf(number)], list_text: [listOf(text)], list_list: [listOf(listOf(number))], struct: [struct], list_struct: [listOf(struct)],
  struct_list: [structOf({ n: number, l: listOf(number) })],
}
const OPTIONS = [
  {},
  { setCompression: wasm.Compression.UNCOMPRESSED, setWriterVersion: wasm.WriterVersion.V2 },
  { setCompression: wasm.Compression.ZSTD, setMaxRowGroupSize: 100 },
  { setCompression: wasm.Compression.GZIP, setDataPageSizeLimit: 100, setWriteBatchSize: 16 },
  { setDictionaryEnabled: false, setWriterVersion: wasm.WriterVersion.V2, setMaxRowGroupSize: 256 },
]

let made = [null, null, null]
function tableOf(names, rows) {
  if (made[0] !== rows || made[1] !== names.join()) {
    const columns = names.map(name => {
      const [type, make = value => value] = TYPES[kindOf(name)]
      const values = rows.map(row => row[name] === null ? null : make(row[name]))
      const vector = rows.length ? arrow.vectorFromArray(values, type) : arrow.makeVector(arrow.makeBuilder({ type }).finish().flush())
      return [name, vector]
    })
    const fields = names.map(name => new arrow.Field(name, TYPES[kindOf(name)][0], true))
    made = [rows, names.join(), new arrow.Table(new arrow.Schema(fields), Object.fromEntries(columns))]
  }
  return made[2]
}

function write(names, rows, options) {
  const builder = Object.entries(options).reduce((builder, [name, value]) => builder[name](value), new wasm.WriterPropertiesBuilder())
  const table = tableOf(names, rows)
  if (!wasm.Table) return wasm.writeParquet(arrow.tableToIPC(table, 'file'), builder.build())
  return wasm.writeParquet(wasm.Table.fromIPCStream(arrow.tableToIPC(table, 'stream')), builder.build())
}

await run(Object.keys(TYPES), OPTIONS, write)
