import { readFileSync } from 'node:fs'
import path from 'node:path'

/** What is told of a reaction besides its emoji. */
export interface Reaction {
  /** The text with its emoji's name, such as `:thumbs_up_medium_skin_tone:`. */
  alias: string
  /** The text with its emoji in no particular skin tone. */
  detoned: string
  detonedAlias: string
}

/** A piece of a text: an emoji by its name, or a character that is none. */
type Token = { name: string } | { character: string }

const joiner = '\u200D'
const variationSelectors = /[\uFE0E\uFE0F]/gu
const skinTone = /_(?:light|medium-light|medium|medium-dark|dark)_skin_tone/g
// What people react with has a few characters; looking for emoji in novels is not worth the time.
const maxTextLength = 1_000

// Names as the Python package `emoji` 2.16.0 writes them; made by generate-emoji.ts, licence in emoji-license.txt.
const table = readFileSync(path.join(import.meta.dirname, 'emoji.txt'), 'utf8')
const emojis = new Map(table.split('\n').map((line) => [line.slice(line.indexOf(' ') + 1), line.split(' ')[0]!]))
const names = new Map([...emojis].map(([name, emoji]) => [emoji.replaceAll(variationSelectors, ''), name]))
const maxEmojiLength = Math.max(...[...names.keys()].map((emoji) => Array.from(emoji).length))

/** Names the emoji of a text; undefined when there is none, or more than one. */
export function describeReaction(text: string): Reaction | undefined {
  if (text.length > maxTextLength) return undefined
  const tokens = tokenize(text)
  if (tokens.filter((token) => 'name' in token).length !== 1) return undefined
  const detoned = dropJoiners(tokens)
    .map((token) => ('name' in token ? detone(token.name) : token.character))
    .join('')
  return { alias: present(tokens), detoned, detonedAlias: present(tokenize(detoned)) }
}

/** The longest emoji at each place, and what is between them without variation selectors. */
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

/** Without the joiners after an emoji, which join it to nothing. */
function dropJoiners(tokens: Token[]): Token[] {
  return tokens.filter((token, index) => {
    const before = tokens[index - 1]
    return 'name' in token || token.character !== joiner || !before || !('name' in before)
  })
}

/** Without its skin tones; an emoji that there is in skin tones only stays a name. */
function detone(name: string): string {
  const bare = name.replaceAll(skinTone, '')
  return emojis.get(bare) ?? `:${bare}:`
}

function present(tokens: Token[]): string {
  return tokens.map((token) => ('name' in token ? `:${token.name}:` : token.character)).join('')
}
