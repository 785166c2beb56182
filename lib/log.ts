import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { logContext } from './log-context.ts'

export type { Logger }

// A full disk costs lines of the log, never the process: pino's own destination would end it, or wait for ever.
const destination = {
  write(line: string): void {
    try {
      writeSync(1, line)
    } catch {
      // Nothing can read this line.
    }
  },
}

/**
 * A JSON-lines logger on standard output, named after its process. Fields that carry secrets print as `***`; lines that are
 * written for a request have its id.
 */
export function createLogger(name: string, level = 'info'): Logger {
  return pino(
    {
      name,
      level,
      redact: { paths: ['authorization', 'token', 'apiKey', '*.authorization', '*.token', '*.apiKey'], censor: '***' },
      mixin: () => logContext.getStore() ?? {},
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    destination,
  )
}
