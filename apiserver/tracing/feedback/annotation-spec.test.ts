import { expect, test } from 'vitest'
import { AnnotationChecks } from './annotation-spec.ts'

test('annotations without time left are rejected', async () => {
  const checks = new AnnotationChecks({} as never, {} as never, 0)
  await expect(checks.check({ ref: 'weave:///a/b/object/c:d', value: '1' })).rejects.toMatchObject({
    status: 400,
    message: 'Checking the annotations of this request takes too long. Send fewer annotations, or simplify the schema.',
  })
})
