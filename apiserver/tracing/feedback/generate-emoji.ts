import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// Writes emoji.txt from the data of the Python package `emoji`. Clients of the hosted service see its names.
//   node apiserver/tracing/feedback/generate-emoji.ts SITE_PACKAGES/emoji/unicode_codes/emoji.json
// Each emoji is listed once, in its fully qualified form. The package's other forms of an emoji lack variation
// selectors, and have the same name.

// In the package's data, 1 is a component (such as a skin tone) and 2 is fully qualified.
const fullyQualified = 2

const source = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Record<string, { en: string; status: number }>
const lines = Object.entries(source)
  .filter(([, { status }]) => status <= fullyQualified)
  .map(([emoji, { en }]) => `${emoji} ${en.slice(1, -1)}\n`)
writeFileSync(path.join(import.meta.dirname, 'emoji.txt'), lines.join(''))
