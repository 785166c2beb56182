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
  ['an image of another interface', { type: 'input_image', image_url: url }, 'image_url'],
  ['an image as other libraries say it', { type: 'image', image: url }, 'image'],
  ['a file of the engine', { type: 'image_url', image_url: { url: 'file:///etc/passwd' } }, 'image_url.url'],
  ['a path', { type: 'video', video: '/etc/passwd' }, 'video'],
  ['an address without a scheme', { type: 'image_url', image_url: { url: '//internal/a' } }, 'image_url.url'],
  ['a scheme behind a space', { type: 'image_url', image_url: { url: ' data:,' } }, 'image_url.url'],
  ['a list in place of an address', { type: 'image_url', image_url: { url: [url] } }, 'image_url.url'],
  ['an image that only code can have', { type: 'image_pil', image_pil: [url] }, 'type'],
  ['one without a type', { image_pil: [url] }, 'image_pil'],
  ['what a later engine may know', { type: 'point_cloud', points: '/etc/passwd' }, 'type'],
  ['a type that is no text', { type: ['image_url'] }, 'type'],
  ['a file by its id', { type: 'file', file: { file_id: 'file-1' } }, 'file.file_id'],
  ['a tensor', { type: 'image_embeds', image_embeds: 'gASV' }, 'type'],
  ['a tensor without a type', { audio_embeds: { a: 'gASV' } }, 'audio_embeds'],
  ['a tensor as a prompt', { type: 'prompt_embeds', data: 'gASV' }, 'type'],
  ['the media of an id', { type: 'image_url', image_url: null, uuid: 'logo' }, 'uuid'],
])('%s is refused', (_, part, path) => {
  const [issue, ...others] = find({ type: 'text', text: 'look' }, part)
  expect([issue?.loc.join('.'), others]).toEqual([`body.messages.1.content.1.${path}`, []])
})

test.each([
  ['a text with an address', { type: 'text', text: url }],
  ['a text by itself', url],
  ['an image that is sent', { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } }],
  ['one with capitals', { type: 'image_url', image_url: { url: 'DATA:image/png;base64,AAAA' } }],
  ['audio that is sent', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
  ['a part without media', { type: 'image_url', image_url: null, uuid: null }],
  ['a text with a mark', { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' }, annotations: [] }],
  ['a text without a type, which the engine judges', { text: 'hi' }],
  ['a thought', { type: 'thinking', thinking: 'hm' }],
])('%s passes', (_, part) => {
  expect(find(part)).toEqual([])
})

test('some faults of very many are told', () => {
  expect(find(...Array.from({ length: 1_000 }, () => ({ image_url: url })))).toHaveLength(10)
})
