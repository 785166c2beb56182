import { request } from 'node:http'
import { text } from 'node:stream/consumers'

/** The text of a process's metrics. */
export async function readMetrics(port: number, host = '127.0.0.1'): Promise<string> {
  const response = await fetch(`http://${host}:${port}/metrics`)
  if (!response.ok) throw new Error(`metrics were answered by ${response.status}`)
  return response.text()
}

/** The series of a metric in a text, with its labels and value: `name{a="b"} 1`. */
export function listSeries(metrics: string, name: string): string[] {
  return metrics.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
}

/** The value of the one series that has all these labels. 0 if there is none. */
export function valueOf(metrics: string, name: string, labels: Record<string, string> = {}): number {
  const parts = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const found = listSeries(metrics, name).filter((line) => parts.every((part) => line.includes(part)))
  if (found.length > 1) throw new Error(`several series of ${name}: ${found.join(', ')}`)
  return Number(found[0]?.split(' ').at(-1) ?? 0)
}

/** The names of all metrics in a text. */
export function listNames(metrics: string): string[] {
  return [...metrics.matchAll(/^# TYPE (\S+)/gm)].map((match) => match[1]!)
}

/** Sends a request that `fetch` would not send. Returns its status. */
export async function sendRaw(url: string, method: string, path: string): Promise<number> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path }, (response) => {
      void text(response).then(() => resolve(response.statusCode!), reject)
    })
    sent.once('error', reject)
    sent.end()
  })
}
