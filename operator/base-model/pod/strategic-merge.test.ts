import { expect, test } from 'vitest'
import { mergeStrategic } from './strategic-merge.ts'

const pod = {
  nodeSelector: { zone: 'a' },
  tolerations: [{ key: 'gpu' }],
  volumes: [{ name: 'cache', emptyDir: {} }],
  containers: [
    {
      name: 'engine',
      image: 'a',
      volumeMounts: [{ name: 'cache', mountPath: '/cache' }],
      ports: [{ containerPort: 1 }],
    },
  ],
}

test.each<[string, Record<string, unknown>, object]>([
  ['nothing', {}, {}],
  ['a new field', { hostname: 'a' }, { hostname: 'a' }],
  ['a member of an object', { nodeSelector: { disk: 'ssd' } }, { nodeSelector: { zone: 'a', disk: 'ssd' } }],
  ['a list without a key is replaced', { tolerations: [{ key: 'b' }] }, { tolerations: [{ key: 'b' }] }],
  [
    'a volume of the same name is replaced, a new one added',
    {
      volumes: [
        { name: 'cache', hostPath: { path: '/x' } },
        { name: 'more', emptyDir: {} },
      ],
    },
    {
      volumes: [
        { name: 'cache', hostPath: { path: '/x' } },
        { name: 'more', emptyDir: {} },
      ],
    },
  ],
  [
    'a container is merged by its name, its mounts by their path, and another one is added',
    {
      containers: [
        { name: 'logs', image: 'b' },
        {
          name: 'engine',
          volumeMounts: [
            { mountPath: '/more', name: 'more' },
            { mountPath: '/cache', subPath: 'x' },
          ],
        },
      ],
    },
    {
      containers: [
        {
          name: 'engine',
          image: 'a',
          volumeMounts: [
            { name: 'cache', mountPath: '/cache', subPath: 'x' },
            { mountPath: '/more', name: 'more' },
          ],
          ports: [{ containerPort: 1 }],
        },
        { name: 'logs', image: 'b' },
      ],
    },
  ],
])('%s', (_, overlay, expected) => {
  expect(mergeStrategic(pod, overlay)).toEqual({ ...pod, ...expected })
})
