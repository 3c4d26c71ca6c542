// What the programs of all writers in JavaScript share: the tables, which files they make, and the list of them.

import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const [, , folder, tables] = process.argv
/** Loads a package of the writer's folder. */
export const load = createRequire(join(process.env.WRITER, 'package.json'))

const index = JSON.parse(readFileSync(join(tables, 'index.json'), 'utf8'))
export const kindOf = name => name.slice(0, name.lastIndexOf('_'))

const loaded = new Map()
/** Rows of a table as objects, with text in place of integers that a double cannot hold. */
export function rowsOf(shape, rows) {
  const file = `${shape === 'flat' || shape === 'nested' ? 'all' : shape}-${rows}.jsonl`
  if (!loaded.has(file)) {
    loaded.clear()
    loaded.set(file, readFileSync(join(tables, file), 'utf8').split('\n').filter(line => line).map(line => JSON.parse(line)))
  }
  return loaded.get(file)
}

/** Microseconds since 1970 of a text of ISO 8601 that has them. */
export function micros(text) {
  const [whole, fraction] = text.split('.')
  return BigInt(Date.parse(`${whole}Z`)) * 1000n + BigInt(fraction)
}

const reason = error => `${error}`.slice(0, 200)

/**
 * Writes each table with options in turn, and lists the files in `index.jsonl`.
 *
 * `write(columns, rows, options)` returns the bytes of a file with these columns of the rows, and fails for what it does not know.
 */
export async function run(kinds, allOptions, write) {
  const leftOut = {}
  const started = Date.now()
  const probe = async (names, options) => write(names, rowsOf('flat', 9), options)
  const known = []
  for (const kind of kinds) {
    try {
      await probe(index.nulls.map(nulls => `${kind}_${nulls}`), {})
      known.push(kind)
    } catch (error) {
      leftOut[kind] = reason(error)
    }
  }
  const options = []
  for (const some of allOptions) {
    try {
      await probe([`${known[0]}_few`], some)
      options.push(some)
    } catch (error) {
      leftOut[JSON.stringify(some)] = reason(error)
    }
  }
  const lines = []
  for (const { shape, rows, columns, first } of index.tables) {
    const names = columns.filter(name => known.includes(kindOf(name)))
    if (!names.length) continue
    for (const [at, some] of options.slice(0, first ? 1 : shape === 'large' ? 2 : options.length).entries()) {
      const file = `${shape}-${rows}-${at}.parquet`
      try {
        writeFileSync(join(folder, file), await write(names, rowsOf(shape, rows), some))
        lines.push({ file, rows, columns: names, options: some, structs_of_nulls: false })
      } catch (error) {
        leftOut[file] = reason(error)
      }
    }
  }
  writeFileSync(join(folder, 'index.jsonl'), lines.map(line => JSON.stringify(line) + '\n').join(''))
  writeFileSync(join(folder, 'left_out.json'), JSON.stringify({ left_out: leftOut, seconds: (Date.now() - started) / 1000 }))
}
