import type pg from 'pg'
import { parseIntoClientConfig } from 'pg-connection-string'
import { ConfigError } from '../lib/config.ts'
import { readUrl, type DatabaseUrl } from './address.ts'

/**
 * The driver's settings for an address. If the address can be read again, each connection has the password of its time: a
 * changed password needs no new process.
 *
 * @throws {ConfigError} for a certificate file that cannot be read
 */
export function connectionConfig(url: DatabaseUrl): pg.ClientConfig {
  const config = parse(readUrl(url))
  if (typeof url === 'string') return config
  return { ...config, password: () => String(parse(url()).password ?? '') }
}

function parse(url: string): pg.ClientConfig {
  try {
    return parseIntoClientConfig(url)
  } catch (error) {
    const { syscall, path } = error as { syscall?: string; path?: string }
    if (syscall !== 'open') throw error
    throw new ConfigError(`bad configuration: the address of the database names a file that cannot be read: ${path}`)
  }
}
