import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'

export type { Logger }

// A full disk costs lines of the log, never the process: pino's own destination would end it, or wait for ever.
const destination = {
  write(line: string): void {
    try {
      writeSync(1, line)
    } catch {
      // There is nobody left to tell.
    }
  },
}

/** A JSON-lines logger on standard output, named after its process. Fields that carry secrets print as `***`. */
export function createLogger(name: string, level = 'info'): Logger {
  return pino(
    {
      name,
      level,
      redact: { paths: ['authorization', 'token', 'apiKey', '*.authorization', '*.token', '*.apiKey'], censor: '***' },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    destination,
  )
}
