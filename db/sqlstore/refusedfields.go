package sqlstore

import (
	"context"

	"hippocampus/internal/memory"
)

func refusedFieldFields(f *memory.RefusedField) []any { return []any{&f.Endpoint, &f.Model, &f.Field} }

// RefusedFields lists what the models of an endpoint refuse.
func (s *Store) RefusedFields(ctx context.Context, endpoint string) ([]memory.RefusedField, error) {
	fields, err := collect(ctx, s.conn, refusedFieldFields,
		`SELECT endpoint, model, field FROM refused_fields WHERE endpoint = $1 ORDER BY model, field`, endpoint)
	return fields, s.fault(err, "read which fields the models of an endpoint refuse")
}

// KeepRefusedField stores a field unless it is stored.
func (s *Store) KeepRefusedField(ctx context.Context, f memory.RefusedField) error {
	_, err := s.exec(ctx, `INSERT INTO refused_fields (endpoint, model, field) VALUES ($1, $2, $3)
		ON CONFLICT DO NOTHING`, f.Endpoint, f.Model, f.Field)
	return s.fault(err, "store that a model refuses a field")
}
