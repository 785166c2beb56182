import { fitLine, formatBar, formatDuration } from './format.ts'

/** Reports the progress of a phase: a short detail, and the completed fraction (0 to 1) if it is known. */
export interface Phase {
  update(detail: string, fraction?: number): void
}

interface Row {
  name: string
  startedAt: number
  detail: string
  fraction: number | undefined
  printedAt: number
}

/** The interval of progress lines if the output is not a terminal. */
const quietIntervalMs = 15_000

/**
 * Shows phases, which may run at the same time. On a terminal, their lines are redrawn in place. Otherwise a plain line
 * is printed at the start, at intervals, and at the end.
 */
export class Board {
  readonly #out: NodeJS.WriteStream
  readonly #rows = new Set<Row>()
  #drawn = 0
  #timer: NodeJS.Timeout | undefined

  constructor(out: NodeJS.WriteStream = process.stdout) {
    this.#out = out
  }

  /** Runs a phase and shows its duration. A phase that ends within `quietMs` is not shown. */
  async run<T>(name: string, work: (phase: Phase) => Promise<T>, { quietMs = 0 } = {}): Promise<T> {
    const now = Date.now()
    const row: Row = { name, startedAt: now, detail: '', fraction: undefined, printedAt: now }
    this.#add(row, quietMs)
    let outcome = 'failed'
    try {
      const result = await work({ update: (detail, fraction) => Object.assign(row, { detail, fraction }) })
      outcome = 'done'
      return result
    } finally {
      const took = Date.now() - now
      this.#remove(row)
      if (outcome === 'failed' || took >= quietMs) this.say(`${name}: ${outcome} in ${formatDuration(took)}`)
    }
  }

  /** Prints a permanent line above the live lines. */
  say(line: string): void {
    this.#erase()
    this.#out.write(`${line}\n`)
    this.#draw()
  }

  #add(row: Row, quietMs: number): void {
    if (!this.#out.isTTY && quietMs === 0) this.#out.write(`${row.name} ...\n`)
    this.#rows.add(row)
    this.#timer ??= setInterval(() => this.#tick(), this.#out.isTTY ? 150 : 1_000)
  }

  #remove(row: Row): void {
    this.#rows.delete(row)
    if (this.#rows.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #tick(): void {
    if (this.#out.isTTY) {
      this.#erase()
      return this.#draw()
    }
    for (const row of this.#rows) {
      if (Date.now() - row.printedAt < quietIntervalMs) continue
      row.printedAt = Date.now()
      this.#out.write(`${describe(row)}\n`)
    }
  }

  #erase(): void {
    if (this.#drawn > 0) this.#out.write(`\x1b[${this.#drawn}A\x1b[J`)
    this.#drawn = 0
  }

  #draw(): void {
    if (!this.#out.isTTY) return
    for (const row of this.#rows) this.#out.write(`${fitLine(describe(row), this.#out.columns - 1)}\n`)
    this.#drawn = this.#rows.size
  }
}

function describe(row: Row): string {
  const bar = row.fraction === undefined ? '' : `  ${formatBar(row.fraction)}`
  return `${row.name}  ${formatDuration(Date.now() - row.startedAt)}${bar}${row.detail ? `  ${row.detail}` : ''}`
}
