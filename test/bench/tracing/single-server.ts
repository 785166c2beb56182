import { createServer } from 'node:http'
import { createPool } from '../../../db/pool.ts'
import { createLogger } from '../../../lib/log.ts'
import type { BenchCall } from './calls.ts'
import { insertStatement, toRow } from './plain-table.ts'

/** node single-server.ts PORT DATABASE_URL TABLE: stores each call with one INSERT, and answers afterwards. */
const [port, databaseUrl, table] = process.argv.slice(2) as [string, string, string]
const pool = createPool(databaseUrl, createLogger('bench', 'error'), 64)
const text = insertStatement(table)

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const answer = () => response.setHeader('content-type', 'application/json').end('{}')
    const store = async () => {
      if (request.method !== 'POST') return
      const { batch } = JSON.parse(Buffer.concat(chunks).toString()) as { batch: BenchCall[] }
      await pool.query({ name: 'insert', text, values: toRow(batch[0]!) })
    }
    store().then(answer, (error: Error) => response.writeHead(500).end(error.message))
  })
})
server.listen(Number(port), '127.0.0.1')
