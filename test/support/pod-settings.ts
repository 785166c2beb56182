/** Settings of the operator for pods, as the tests of rendered objects need them. */
export const podSettings = {
  images: { engine: { cpu: 'e:1', cuda: 'e:1' }, trainer: { cpu: 't:1', cuda: 't:1' } },
  pullPolicy: 'IfNotPresent' as const,
  engineKeys: ['key'],
  artifacts: { volume: { emptyDir: {} } },
  listenOnPodIp: false,
}
