package main

import (
	"strings"
	"testing"

	"hippocampus/db/postgres/postgrestest"
)

func TestPartition_ConvertsAPostgres(t *testing.T) {
	t.Parallel()
	env := []string{"DATABASE_URL=" + postgrestest.URL(t)}
	steps := []struct {
		args []string
		code int
		want string
	}{
		{[]string{"partition"}, 1, "run `hippocampus migrate`"},
		{[]string{"migrate"}, 0, "is up to date"},
		{[]string{"partition", "--dry-run"}, 0, "agent_memories  about 0 rows"},
		{[]string{"partition", "--partitions", "1"}, 1, "give 2 to 256"},
		{[]string{"partition", "--dry-run", "--cancel"}, 1, "none of the others can be"},
		{[]string{"partition", "--cancel"}, 0, ""},
		{[]string{"partition", "--partitions", "2"}, 0, "copy turns: 0 of about 0 rows"},
		{[]string{"partition", "--dry-run"}, 1, "the tables are partitioned"},
		{[]string{"migrate"}, 0, "is up to date"},
	}
	for _, step := range steps {
		code, out, errOut := run(t, env, step.args...)
		if code != step.code || !strings.Contains(out+errOut, step.want) {
			t.Errorf("%q: exit %d, stdout %q, stderr %q, want %d and %q", step.args, code, out, errOut, step.code, step.want)
		}
	}
	if code, _, errOut := run(t, nil, "partition"); code != 1 || !strings.Contains(errOut, "name a Postgres") {
		t.Errorf("SQLite: exit %d, stderr %q", code, errOut)
	}
}
