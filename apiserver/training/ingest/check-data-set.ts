import { unprocessable, valueError, type ValidationIssue } from '../../../lib/http/http-error.ts'
import { decodeText, findTextStart, JsonError } from '../../../lib/json/parse.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import type { ReadInto } from '../../../lib/json/reader.ts'
import { findRowIssue, hasAnswer } from './sft-row.ts'

const newline = 0x0a
const windowBytes = 1024 * 1024
// A conversation of a million tokens has a few megabytes.
const maxLineBytes = 16 * 1024 * 1024
// A longer line is not blank but invalid.
const maxBlankBytes = 1024
// Ten invalid lines show what is wrong with the others.
const maxIssues = 10

/**
 * Checks a file of SFT data line by line, as trainers read it. Each line has {"messages": [...], "tools": [...]}. Blank
 * lines are ignored.
 *
 * @param path the file's name in messages
 * @throws {HttpError} 422 with the first ten invalid lines and their reasons, or because there is nothing to learn
 */
export function checkDataSet(readInto: ReadInto, path: string): void {
  const issues: ValidationIssue[] = []
  let [rows, answers] = [0, 0]
  readLines(readInto, (line, number) => {
    if (line !== undefined && isBlank(line)) return true
    rows++
    const { reason, isAnswered = false } = readRow(line)
    if (isAnswered) answers++
    if (reason !== undefined) issues.push(describeIssue(path, reason, number))
    return issues.length < maxIssues
  })
  if (issues.length > 0) throw unprocessable(...issues)
  if (rows === 0) throw unprocessable(describeIssue(path, 'it is empty: it has no line with a conversation'))
  if (answers === 0)
    throw unprocessable(
      describeIssue(path, 'no line has an assistant message that is trained, so there is nothing to train on'),
    )
}

/** @param line undefined for a line that is too long */
function readRow(line: Buffer | undefined): { reason?: string; isAnswered?: boolean } {
  if (line === undefined) return { reason: `is longer than ${maxLineBytes} bytes` }
  try {
    const row = parseText(decodeText(line.subarray(findTextStart(line))))
    const reason = findRowIssue(row)
    return reason === undefined ? { isAnswered: hasAnswer(row) } : { reason }
  } catch (error) {
    if (error instanceof JsonError) return { reason: `is ${error.message}` }
    throw error
  }
}

function isBlank(line: Buffer): boolean {
  return line.length <= maxBlankBytes && line.toString().trim() === ''
}

/** Passes on each line until `take` wants no more; undefined for a line that is too long to keep. */
function readLines(readInto: ReadInto, take: (line: Buffer | undefined, number: number) => boolean): void {
  const window = Buffer.allocUnsafe(windowBytes)
  let parts: Buffer[] = []
  let [held, number] = [0, 1]
  const add = (bytes: Buffer) => {
    held += bytes.length
    if (held <= maxLineBytes) parts.push(Buffer.from(bytes))
  }
  const end = () => {
    const line = held > maxLineBytes ? undefined : Buffer.concat(parts)
    parts = []
    held = 0
    return take(line, number++)
  }
  for (let size = readInto(window); size > 0; size = readInto(window)) {
    let start = 0
    for (let at = window.indexOf(newline); at !== -1 && at < size; at = window.indexOf(newline, start)) {
      add(window.subarray(start, at))
      start = at + 1
      if (!end()) return
    }
    add(window.subarray(start, size))
  }
  if (held > 0) end()
}

function describeIssue(path: string, reason: string, line?: number): ValidationIssue {
  const where = line === undefined ? `${path}:` : `${path}, line ${line}`
  const loc = ['body', path, ...(line === undefined ? [] : [String(line)])]
  return valueError(loc, `${where} ${reason}`)
}
