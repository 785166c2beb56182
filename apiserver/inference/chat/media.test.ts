import { expect, test } from 'vitest'
import { findUnsupportedMedia } from './media.ts'

const find = (...content: unknown[]) =>
  findUnsupportedMedia({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'user', content },
    ],
  })
const url = 'http://169.254.169.254/latest'

test.each([
  ['an image', { type: 'image_url', image_url: { url } }, 'image_url.url'],
  ['audio', { type: 'audio_url', audio_url: { url } }, 'audio_url.url'],
  ['a video', { type: 'video_url', video_url: { url } }, 'video_url.url'],
  ['an image without a type', { image_url: url }, 'image_url'],
  ['an image in a text', { type: 'text', text: 'hi', image_url: url }, 'image_url'],
  ['several images', { image_url: [url] }, 'image_url.0'],
  ['an image part of the Responses API', { type: 'input_image', image_url: url }, 'image_url'],
  ['an image part of other libraries', { type: 'image', image: url }, 'image'],
  ['a file of the engine', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, 'image_url.url'],
  ['a path', { type: 'video', video: '/etc/passwd' }, 'video'],
  ['an address without a scheme', { type: 'image_url', image_url: { url: '//internal/a' } }, 'image_url.url'],
  ['a scheme behind a space', { type: 'image_url', image_url: { url: ' data:,' } }, 'image_url.url'],
  ['a list in place of an address', { type: 'image_url', image_url: { url: [url] } }, 'image_url.url'],
  ['an image object of Python', { type: 'image_pil', image_pil: [url] }, 'type'],
  ['an image object of Python without a type', { image_pil: [url] }, 'image_pil'],
  ['a type that a later engine may support', { type: 'point_cloud', points: '/etc/passwd' }, 'type'],
  ['a type that is not a text', { type: ['image_url'] }, 'type'],
  ['a file by id', { type: 'file', file: { file_id: 'file-1' } }, 'file.file_id'],
  ['a tensor', { type: 'image_embeds', image_embeds: 'gASV' }, 'type'],
  ['a tensor without a type', { audio_embeds: { a: 'gASV' } }, 'audio_embeds'],
  ['a tensor as a prompt', { type: 'prompt_embeds', data: 'gASV' }, 'type'],
  ['media by id', { type: 'image_url', image_url: null, uuid: 'logo' }, 'uuid'],
])('%s is rejected', (_, part, path) => {
  const [issue, ...others] = find({ type: 'text', text: 'look' }, part)
  expect([issue?.loc.join('.'), others]).toEqual([`body.messages.1.content.1.${path}`, []])
})

test.each([
  ['a text with an address', { type: 'text', text: url }],
  ['a text by itself', url],
  ['an image as data', { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } }],
  ['an image as data, in capitals', { type: 'image_url', image_url: { url: 'DATA:image/png;base64,AAAA' } }],
  ['audio as data', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
  ['a part without media', { type: 'image_url', image_url: null, uuid: null }],
  ['a text with cache control', { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' }, annotations: [] }],
  ['a text without a type, which the engine checks', { text: 'hi' }],
  ['a thinking part', { type: 'thinking', thinking: 'hm' }],
])('%s passes', (_, part) => {
  expect(find(part)).toEqual([])
})

test('at most ten issues are listed', () => {
  expect(find(...Array.from({ length: 1_000 }, () => ({ image_url: url })))).toHaveLength(10)
})
