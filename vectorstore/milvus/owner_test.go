package milvus_test

import (
	"testing"

	"hippocampus/vectorstore"
	"hippocampus/vectorstore/vectortest"
)

func TestDeleteOwner_IncludesCollectionsBeingFilled(t *testing.T) {
	t.Parallel()
	vectortest.DeleteOwnerInRebuild(t, open(t, options(t, vectorstore.Space{Model: "test", Dim: vectortest.Dim})))
}
