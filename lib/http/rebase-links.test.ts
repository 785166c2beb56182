import { expect, test } from 'vitest'
import { rebaseLinks } from './rebase-links.ts'

test.each(['/', '/login', '/team/', '/team/demo', '/team/demo/runs/a%2Fb', '//a', '/team//demo/'])(
  'from %s, links lead to the root, also below the path of a proxy',
  (path) => {
    const placed = rebaseLinks('<script src="./assets/a.js"></script><link href="./assets/a.css">', path)
    const links = [...placed.matchAll(/"(.*?)"/g)].map(([, link]) => link!)
    for (const base of ['http://host', 'http://host/some/path'])
      expect(links.map((link) => new URL(link, base + path).href)).toEqual([
        `${base}/assets/a.js`,
        `${base}/assets/a.css`,
      ])
  },
)

test('other texts stay as they are', () => {
  const html = '<a href="https://a/./b">./c</a>'
  expect(rebaseLinks(html, '/a/b')).toBe(html)
})
