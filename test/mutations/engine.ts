import type { Mutation } from './mutation.ts'

export const engineMutations: Mutation[] = [
  {
    fault: "the engine's key is not checked",
    file: 'trainer/trainyard_engine/access.py',
    find: 'if not self.has_key(scope):',
    replace: 'if not scope["headers"]:',
    test: 'trainer/trainyard_engine/access_test.py',
  },
  {
    fault: 'routes that swap weights are open',
    file: 'trainer/trainyard_engine/access.py',
    find: 'if route not in ROUTES:',
    replace: 'if route is None:',
    test: 'trainer/trainyard_engine/access_test.py',
  },
  {
    fault: 'a public name finds an adapter',
    file: 'trainer/trainyard_artifacts/checkpoints.py',
    find: 'return CHECKPOINT_ID.fullmatch(name) is not None',
    replace: 'return CHECKPOINT_ID.match(name) is not None',
    test: 'trainer/trainyard_engine/resolver_test.py',
  },
  {
    fault: "an adapter's folder is removed although vLLM has not forgotten it",
    file: 'trainer/trainyard_engine/retirement.py',
    find: '                await self.unload(name)\n',
    replace: '',
    test: 'trainer/trainyard_engine/retirement_test.py',
  },
  {
    fault: 'an adapter that is wanted again is removed',
    file: 'trainer/trainyard_engine/retirement.py',
    find: '            task.cancel()\n',
    replace: '            pass\n',
    test: 'trainer/trainyard_engine/retirement_test.py',
  },
  {
    fault: 'the check of grammars is skipped',
    file: 'trainer/trainyard_engine/grammars/gate.py',
    find: '        if sentence is not None:\n            raise',
    replace: '        if sentence == "":\n            raise',
    test: 'trainer/trainyard_engine/grammars/gate_test.py',
  },
  {
    fault: 'a refused grammar is compiled again',
    file: 'trainer/trainyard_engine/grammars/gate.py',
    find: 'sentence = self.known.find_error(order.digest)',
    replace: 'sentence = None',
    test: 'trainer/trainyard_engine/grammars/gate_test.py',
  },
  {
    fault: 'a tenant has two turns at once',
    file: 'trainer/trainyard_engine/grammars/fair_semaphore.py',
    find: 'for tenant in self.queues if tenant not in self.active)',
    replace: 'for tenant in self.queues)',
    test: 'trainer/trainyard_engine/grammars/fair_semaphore_test.py',
  },
  {
    fault: 'a refusal has the status of a success in a stream',
    file: 'trainer/trainyard_engine/grammars/middleware.py',
    find: 'if not self.begun and self.asked.error:',
    replace: 'if self.begun and self.asked.error:',
    test: 'trainer/trainyard_engine/grammars/middleware_test.py',
  },
]
