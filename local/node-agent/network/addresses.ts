import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { writeAtomically } from '../durable-file.ts'

interface AddressAllocations {
  /**
   * The start of the next search. An address is reused as late as possible, so that a client of an old pod does not
   * reach a new one.
   */
  next: number
  byPod: Record<string, number>
}

// 127.Y.0.0 and 127.Y.255.255 look like network and broadcast addresses. People often use 127.Y.0.1 themselves.
const firstNumber = 2
const lastNumber = 65_534

/** The loopback addresses of this node's pods, one for each pod uid. They survive restarts of the agent. */
export class Addresses {
  readonly #file: string
  readonly #network: string
  #book: AddressAllocations = { next: firstNumber, byPod: {} }
  #writing: Promise<void> = Promise.resolve()

  /** @param network the first two numbers, e.g. `127.130` */
  constructor(stateDir: string, network: string) {
    this.#file = path.join(stateDir, 'addresses.json')
    this.#network = network
  }

  async load(): Promise<void> {
    try {
      this.#book = JSON.parse(await readFile(this.#file, 'utf8')) as AddressAllocations
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error('reading pod addresses', { cause: error })
    }
  }

  /** Returns the pod's address. A new one is on disk before it is used. */
  async allocate(uid: string): Promise<string> {
    if (this.#book.byPod[uid] === undefined) {
      const number = findFree(this.#book)
      this.#book = {
        next: number === lastNumber ? firstNumber : number + 1,
        byPod: { ...this.#book.byPod, [uid]: number },
      }
    }
    await this.#save()
    return this.#format(this.#book.byPod[uid] ?? 0)
  }

  async release(uid: string): Promise<void> {
    const { [uid]: released, ...byPod } = this.#book.byPod
    if (released === undefined) return
    this.#book = { ...this.#book, byPod }
    await this.#save()
  }

  #format(number: number): string {
    return `${this.#network}.${number >> 8}.${number & 255}`
  }

  #save(): Promise<void> {
    const write = () => writeAtomically(this.#file, JSON.stringify(this.#book))
    this.#writing = this.#writing.then(write, write)
    return this.#writing
  }
}

function findFree(book: AddressAllocations): number {
  const taken = new Set(Object.values(book.byPod))
  for (let number = book.next; number <= lastNumber; number++) if (!taken.has(number)) return number
  for (let number = firstNumber; number < book.next; number++) if (!taken.has(number)) return number
  throw new Error('no pod address is free')
}
