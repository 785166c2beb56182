import { randomInt } from 'node:crypto'
import { isPortFree } from '../../local/stack/network/ports.ts'

// Below what the system gives to outgoing connections and to listeners that leave the choice to it: one of those ports may
// be another process's by the time that it is listened on. Stacks have theirs from 20,000 on.
const [first, end] = [10_000, 20_000]

/** A port of 127.0.0.1 that nobody listens on at the moment, and hardly anybody else will choose. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end)
    if (await isPortFree(port)) return port
  }
}
