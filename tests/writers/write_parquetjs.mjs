// Files of parquetjs and its successors.

import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { kindOf, load, run } from './writer.mjs'

const scoped = process.env.WRITER_NAME
const { ParquetSchema, ParquetWriter } = load(scoped)
const scratch = join(process.argv[2], 'scratch.parquet')

const plain = type => [{ type, optional: true }]
// Integers of 64 bits are doubles to this writer.
const TYPES = {
  bool: plain('BOOLEAN'), int8: plain('INT_8'), int16: plain('INT_16'), int32: plain('INT_32'), uint8: plain('UINT_8'), uint16: plain('UINT_16'),
  digit: plain('INT32'), float: plain('FLOAT'), double: plain('DOUBLE'), text: plain('UTF8'), word: plain('UTF8'), category: plain('UTF8'),
  binary: [{ type: 'BYTE_ARRAY', optional: true }, value => Buffer.from(value, 'base64')],
  date: [{ type: 'DATE', optional: true }, value => new Date(value)],
  stamp_ms: [{ type: 'TIMESTAMP_MILLIS', optional: true }, value => new Date(`${value}Z`)],
  struct: [{ optional: true, fields: { a: { type: 'INT32', optional: true }, b: { type: 'UTF8', optional: true } } }],
}
const OPTIONS = [
  {},
  { useDataPageV2: false },
  { compression: 'GZIP', rowGroupSize: 100 },
  { compression: 'SNAPPY', rowGroupSize: 8 },
]

async function write(names, rows, { compression, ...options }) {
  const fields = names.map(name => {
    const field = structuredClone(TYPES[kindOf(name)][0])
    if (compression) for (const leaf of field.fields ? Object.values(field.fields) : [field]) leaf.compression = compression
    return [name, field]
  })
  const writer = await ParquetWriter.openFile(new ParquetSchema(Object.fromEntries(fields)), scratch, options)
  if (options.rowGroupSize) writer.setRowGroupSize(rows.length > 300 ? 256 : options.rowGroupSize)
  for (const row of rows) {
    const made = names.filter(name => row[name] !== null).map(name => {
      const make = TYPES[kindOf(name)][1] ?? (value => value)
      return [name, make(withoutNulls(row[name]))]
    })
    await writer.appendRow(Object.fromEntries(made))
  }
  await writer.close()
  const bytes = readFileSync(scratch)
  rmSync(scratch)
  return bytes
}

/** The object without its nulls, which this writer takes for values. */
function withoutNulls(value) {
  if (typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null))
}

await run(Object.keys(TYPES), OPTIONS, write)
