package sqlitevec_test

import (
	"path/filepath"
	"testing"

	"hippocampus/vectorstore"
	"hippocampus/vectorstore/vectortest"
)

func TestDeleteOwner_IncludesTablesBeingFilled(t *testing.T) {
	t.Parallel()
	space := vectorstore.Space{Model: "test", Dim: vectortest.Dim}
	vectortest.DeleteOwnerInRebuild(t, open(t, filepath.Join(t.TempDir(), "vectors.db"), space))
}
