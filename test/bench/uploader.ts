import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { request } from 'node:http'
import { parentPort } from 'node:worker_threads'

/** A file to send as a body, as fast as the server reads it. */
export interface UploadTask {
  url: string
  apiKey: string
  file: string
}

/** `sent` when the last byte was sent, `answered` when the response has arrived. */
export type UploadReport = { event: 'sent' } | { event: 'answered'; status: number; text: string }

const port = parentPort!

async function upload({ url, apiKey, file }: UploadTask): Promise<void> {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': 'application/json',
    'content-length': (await stat(file)).size,
  }
  const sent = request(url, { method: 'POST', headers }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (part: string) => (text += part))
    response.on('end', () => report({ event: 'answered', status: response.statusCode!, text }))
  })
  sent.on('error', (error) => report({ event: 'answered', status: 0, text: error.message }))
  sent.on('finish', () => report({ event: 'sent' }))
  createReadStream(file).pipe(sent)
}

function report(what: UploadReport): void {
  const noTransfer: [] = []
  port.postMessage(what, noTransfer)
}

port.on('message', (task: UploadTask) => void upload(task))
