package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"hippocampus/internal/memory"
)

func TestFault_OfAnEndedTransactionIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"25P03", "25P04", "57014", "40P01"} {
		if got := memory.KindOf(fault(&pgconn.PgError{Code: code}, "store the turn")); got != memory.KindUnavailable {
			t.Errorf("SQLSTATE %s is %s, want %s", code, got, memory.KindUnavailable)
		}
	}
}
