import { readFileSync } from 'node:fs'
import path from 'node:path'

/** What is stored of a reaction beside its emoji. */
export interface Reaction {
  /** The text with its emoji's name, such as `:thumbs_up_medium_skin_tone:`. */
  alias: string
  /** The text with its emoji without a skin tone. */
  detoned: string
  detonedAlias: string
}

/** A piece of a text: an emoji's name, or a character that is not part of an emoji. */
type Token = { name: string } | { character: string }

const joiner = '\u200D'
const variationSelectors = /[\uFE0E\uFE0F]/gu
const skinTone = /_(?:light|medium-light|medium|medium-dark|dark)_skin_tone/g
// Reactions have a few characters. Longer texts are not searched.
const maxTextLength = 1_000

// The names are those of the Python package `emoji` 2.16.0. generate-emoji.ts writes the file; emoji-license.txt is its
// licence.
const table = readFileSync(path.join(import.meta.dirname, 'emoji.txt'), 'utf8')
const emojis = new Map(table.split('\n').map((line) => [line.slice(line.indexOf(' ') + 1), line.split(' ')[0]!]))
const names = new Map([...emojis].map(([name, emoji]) => [emoji.replaceAll(variationSelectors, ''), name]))
const maxEmojiLength = Math.max(...[...names.keys()].map((emoji) => Array.from(emoji).length))

/** Describes the emoji in a text. Undefined unless there is exactly one. */
export function describeReaction(text: string): Reaction | undefined {
  if (text.length > maxTextLength) return undefined
  const tokens = tokenize(text)
  if (tokens.filter((token) => 'name' in token).length !== 1) return undefined
  const detoned = dropJoiners(tokens)
    .map((token) => ('name' in token ? detone(token.name) : token.character))
    .join('')
  return { alias: present(tokens), detoned, detonedAlias: present(tokenize(detoned)) }
}

/** Finds the longest emoji at each position, and keeps the characters between them. Variation selectors are dropped. */
function tokenize(text: string): Token[] {
  const characters = Array.from(text.replaceAll(variationSelectors, ''))
  const tokens: Token[] = []
  for (let at = 0; at < characters.length;) {
    const found = findEmoji(characters, at)
    tokens.push(found ? { name: found.name } : { character: characters[at]! })
    at += found?.length ?? 1
  }
  return tokens
}

function findEmoji(characters: string[], at: number): { name: string; length: number } | undefined {
  for (let length = Math.min(maxEmojiLength, characters.length - at); length > 0; length--) {
    const name = names.get(characters.slice(at, at + length).join(''))
    if (name !== undefined) return { name, length }
  }
  return undefined
}

/** Drops joiners after an emoji: they join nothing. */
function dropJoiners(tokens: Token[]): Token[] {
  return tokens.filter((token, index) => {
    const before = tokens[index - 1]
    return 'name' in token || token.character !== joiner || !before || !('name' in before)
  })
}

/** Removes skin tones from a name. An emoji that exists with skin tones only stays a name. */
function detone(name: string): string {
  const bare = name.replaceAll(skinTone, '')
  return emojis.get(bare) ?? `:${bare}:`
}

function present(tokens: Token[]): string {
  return tokens.map((token) => ('name' in token ? `:${token.name}:` : token.character)).join('')
}
