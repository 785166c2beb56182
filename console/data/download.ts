import { sendTo } from './client.ts'

/** Downloads the answer to a request as a file. */
export async function downloadAnswer(address: string, body: unknown, name: string): Promise<void> {
  const response = await sendTo('POST', address, body)
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The browser has begun to read it.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
