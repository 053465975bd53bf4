package sqlitevec_test

import (
	"path/filepath"
	"testing"

	"hippocampus/vectorstore"
	"hippocampus/vectorstore/vectortest"
)

func TestOwnersAreDeletedFromWhatIsBeingFilled(t *testing.T) {
	t.Parallel()
	vectortest.DeleteOwnerInRebuild(t, open(t, filepath.Join(t.TempDir(), "vectors.db"), vectorstore.Space{Model: "test", Dim: vectortest.Dim}))
}
