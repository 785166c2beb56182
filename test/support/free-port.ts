import { randomInt } from 'node:crypto'
import { isPortFree } from '../../local/stack/network/ports.ts'

// These are below the ports that the system gives to outgoing connections and to listeners without a fixed port.
// Another process could take such a port before the test listens on it. Stacks use ports from 20,000 on. fetch rejects 10080.
const [first, end] = [10_081, 20_000]

/** Finds a free port of 127.0.0.1 that other processes are unlikely to choose. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end)
    if (await isPortFree(port)) return port
  }
}
