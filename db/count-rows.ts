import pg from 'pg'
import { findRequest, type AnswerBytes } from '../lib/request-scope.ts'
import { bytesPerContainer, outlineJson } from '../lib/json/outline.ts'

const jsonTypes: ReadonlySet<number> = new Set([pg.types.builtins.JSON, pg.types.builtins.JSONB])

interface Types {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (value: string) => unknown
}

/**
 * A query whose values count as bytes of the answer that it is for, one value after the other. If the answer has no room
 * for a value, the query fails, and its other rows are dropped as they arrive.
 */
export function countRows(client: pg.Client, config: unknown): unknown {
  const answer = findRequest()?.answer
  if (!answer) return config
  if (typeof config === 'string') return { text: config, types: countValues(client, answer) }
  // Objects that send themselves, such as streams, have no text.
  if (typeof config !== 'object' || config === null || 'submit' in config) return config
  const { types = client } = config as pg.QueryConfig
  return { ...config, types: countValues(types, answer) }
}

function countValues(types: unknown, answer: AnswerBytes): Types {
  return {
    getTypeParser: (oid, format) => {
      const parse = (types as Types).getTypeParser(oid, format)
      const isJson = jsonTypes.has(oid)
      return (value) => {
        answer.read(isJson ? measureJson(value) : Buffer.byteLength(value))
        return parse(value)
      }
    },
  }
}

/** The driver parses JSON, and empty lists take far more memory than their text. */
function measureJson(text: string): number {
  const bytes = Buffer.from(text)
  return bytes.length + bytesPerContainer * outlineJson(bytes).containers
}

/** A client whose values count, and nothing else. */
export class CountingClient extends pg.Client {
  override query = ((config: unknown, ...rest: [unknown[]?]) =>
    super.query(countRows(this, config) as string, ...rest)) as pg.Client['query']
}
