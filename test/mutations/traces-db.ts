import type { Mutation } from './mutation.ts'

const isolation = 'test/api/tracing-isolation.test.ts'

export const traceDatabaseMutations: Mutation[] = [
  {
    fault: "another entity's project is found",
    file: 'apiserver/tracing/projects.ts',
    find: 'if (entity !== caller.entity) throw',
    replace: 'if (entity === name) throw',
    test: 'test/api/tracing-foreign-ids.test.ts',
  },
  {
    fault: 'calls of a foreign project are read',
    file: 'apiserver/tracing/query/calls-query.ts',
    find: '`c.project = ${params.add(project.number)}::int`',
    replace: '`c.project <> -${params.add(project.number)}::int`',
    test: isolation,
  },
  {
    fault: 'a file of a foreign project is read',
    file: 'db/tracing/files.ts',
    find: 'AS "artifactKey" FROM tracing.files WHERE project = $1',
    replace: 'AS "artifactKey" FROM tracing.files WHERE project <> -$1::int',
    test: isolation,
  },
  {
    fault: 'rows of a foreign table are read',
    file: 'db/tracing/tables.ts',
    find: 'JOIN tracing.table_rows r ON r.project = $1 AND r.digest = p.digest\n     WHERE',
    replace: 'JOIN tracing.table_rows r ON r.project <> -$1::int AND r.digest = p.digest\n     WHERE',
    test: isolation,
  },
  {
    fault: 'a version that is published again after its deletion keeps its old time',
    file: 'db/tracing/objects.ts',
    find: 'THEN created_at ELSE clock_timestamp() END',
    replace: 'THEN created_at ELSE created_at END',
    test: 'test/api/tracing-objects.test.ts',
  },
  {
    fault: 'a version that is published again after its deletion keeps its old user',
    file: 'db/tracing/objects.ts',
    find: 'THEN wb_user_id ELSE $7 END',
    replace: 'THEN wb_user_id ELSE coalesce(wb_user_id, $7) END',
    test: 'test/api/tracing-objects.test.ts',
  },
  {
    fault: 'an object of a foreign project is read',
    file: 'db/tracing/objects.ts',
    find: 'WHERE v.project = $1 AND v.object_id = $2 AND ${condition}',
    replace: 'WHERE v.project <> -$1::int AND v.object_id = $2 AND ${condition}',
    test: isolation,
  },
  {
    fault: 'tags of a foreign project are listed',
    file: 'db/tracing/object-labels.ts',
    find: 'FROM tracing.object_tags l WHERE l.project = $1',
    replace: 'FROM tracing.object_tags l WHERE l.project <> -$1::int',
    test: isolation,
  },
  {
    fault: 'feedback of a foreign project is purged',
    file: 'db/tracing/feedback.ts',
    find: 'DELETE FROM tracing.feedback WHERE project = $1',
    replace: 'DELETE FROM tracing.feedback WHERE project <> -$1::int',
    test: isolation,
  },
  {
    fault: 'costs of a foreign project are deleted',
    file: 'db/tracing/costs.ts',
    find: 'DELETE FROM tracing.costs WHERE project = $1',
    replace: 'DELETE FROM tracing.costs WHERE project <> -$1::int',
    test: isolation,
  },
  {
    fault: 'a thread shows turns of a foreign project',
    file: 'db/tracing/threads.ts',
    find: 'WHERE project = $1 AND thread_id IS NOT NULL',
    replace: 'WHERE project <> -$1::int AND thread_id IS NOT NULL',
    test: 'test/api/tracing-threads.test.ts',
  },
]
