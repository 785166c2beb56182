import type { PermitAnswer, PermitRequest } from './messages.ts'
import { PermitAccount } from './permit-account.ts'

/** All permits of entities that the processes of a replica share, with the number that each process has. */
export class PermitLedger {
  readonly #send: (process: number, answer: PermitAnswer) => void
  /** By limit and entity. Without permits there is no entry. */
  readonly #accounts = new Map<string, PermitAccount>()

  constructor(send: (process: number, answer: PermitAnswer) => void) {
    this.#send = send
  }

  /** The number of entities and limits with permits in use. */
  get size(): number {
    return this.#accounts.size
  }

  receive(process: number, request: PermitRequest): void {
    const key = `${request.name} ${request.entity}`
    const account = this.#accounts.get(key) ?? this.#open(key, request)
    if (request.type === 'ask') account.ask(process, request)
    else account.takeReturned(process, request)
    this.#closeEmpty(key, account)
  }

  /** Releases the permits of a process that has ended. */
  removeProcess(process: number): void {
    for (const [key, account] of this.#accounts) {
      account.removeProcess(process)
      this.#closeEmpty(key, account)
    }
  }

  #open(key: string, { name, entity }: PermitRequest): PermitAccount {
    const account = new PermitAccount((process, answer) => this.#send(process, { name, entity, ...answer }))
    this.#accounts.set(key, account)
    return account
  }

  #closeEmpty(key: string, account: PermitAccount): void {
    if (!account.isEmpty) return
    account.close()
    this.#accounts.delete(key)
  }
}
