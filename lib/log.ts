import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { findRequest } from './request-scope.ts'

export type { Logger }

// A full disk may lose log lines but must not stop the process. pino's own destination would end it, or wait forever.
const destination = {
  write(line: string): void {
    try {
      writeSync(1, line)
    } catch {
      // Nobody could read a message about this.
    }
  },
}

/**
 * Creates a JSON-lines logger on standard output, named after its process. Fields with secrets print as `***`. Lines of
 * a request have its id.
 */
export function createLogger(name: string, level = 'info'): Logger {
  return pino(
    {
      name,
      level,
      redact: { paths: ['authorization', 'token', 'apiKey', '*.authorization', '*.token', '*.apiKey'], censor: '***' },
      mixin: () => {
        const requestId = findRequest()?.requestId
        return requestId === undefined ? {} : { requestId }
      },
      serializers: { error: pino.stdSerializers.errWithCause },
    },
    destination,
  )
}
