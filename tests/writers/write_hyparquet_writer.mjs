// Files of hyparquet-writer.

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { kindOf, micros, run } from './writer.mjs'

const at = join(process.env.WRITER, 'node_modules', 'hyparquet-writer')
const { parquetWriteBuffer } = await import(pathToFileURL(join(at, 'src', 'index.js')))

const int = (bits, sign = '') => [{ type: bits === 64 ? 'INT64' : 'INT32', converted_type: `${sign}INT_${bits}` }, bits === 64 ? BigInt : undefined]
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' }
const listOf = element => [{ converted_type: 'LIST', num_children: 1 }, { name: 'list', repetition_type: 'REPEATED', num_children: 1 }, element]
const TYPES = {
  bool: [{ type: 'BOOLEAN' }], int8: int(8), int16: int(16), int32: int(32), int64: int(64),
  uint8: int(8, 'U'), uint16: int(16, 'U'), uint32: int(32, 'U'), uint64: int(64, 'U'), digit: [{ type: 'INT32' }],
  float: [{ type: 'FLOAT' }], double: [{ type: 'DOUBLE' }], text: [text], word: [text], category: [text],
  binary: [{ type: 'BYTE_ARRAY' }, value => new Uint8Array(Buffer.from(value, 'base64'))],
  date: [{ type: 'INT32', converted_type: 'DATE' }, value => new Date(value)],
  stamp_ms: [{ type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, value => new Date(`${value}Z`)],
  stamp_us: [{ type: 'INT64', converted_type: 'TIMESTAMP_MICROS' }, micros],
  decimal_9_2: [{ type: 'INT32', converted_type: 'DECIMAL', scale: 2, precision: 9 }, Number],
  list_int: [listOf({ name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' })],
  list_text: [listOf({ name: 'element', ...text, repetition_type: 'OPTIONAL' })],
  struct: [[{ num_children: 2 }, { name: 'a', type: 'INT32', repetition_type: 'OPTIONAL' }, { name: 'b', ...text, repetition_type: 'OPTIONAL' }]],
}
const OPTIONS = [
  {},
  { codec: 'UNCOMPRESSED' },
  { pageSize: 100, rowGroupSize: 100, columnIndex: true },
  { statistics: false, rowGroupSize: 256 },
]

function write(names, rows, { columnIndex, ...options }) {
  const schema = [{ name: 'root', num_children: names.length }]
  const columnData = names.map(name => {
    const [type, make = value => value] = TYPES[kindOf(name)]
    const [head, ...inside] = [type].flat()
    schema.push({ name, repetition_type: 'OPTIONAL', ...head }, ...inside)
    return { name, data: rows.map(row => row[name] === null ? null : make(row[name])), ...columnIndex && { columnIndex } }
  })
  return new Uint8Array(parquetWriteBuffer({ columnData, schema, ...options }))
}

const { version } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8'))
// It writes the number of booleans in place of the length of their runs, which pyarrow refuses, too.
if (version === '0.6.1') delete TYPES.bool

await run(Object.keys(TYPES), OPTIONS, write)
