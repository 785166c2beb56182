import { pino, type Logger } from 'pino'

export type { Logger }

/** A JSON-lines logger named after its process. Secrets never reach it: fields that carry them print as `***`. */
export function createLogger(name: string, level = 'info'): Logger {
  return pino({
    name,
    level,
    redact: { paths: ['authorization', 'token', 'apiKey', '*.authorization', '*.token', '*.apiKey'], censor: '***' },
    serializers: { error: pino.stdSerializers.errWithCause },
  })
}
