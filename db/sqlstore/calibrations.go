package sqlstore

import (
	"context"

	"hippocampus/internal/memory"
)

const calibrationColumns = `english_unrelated, english_related, english_floor,
	chinese_unrelated, chinese_related, chinese_floor`

func calibrationFields(c *memory.Calibration) []any {
	return []any{&c.English.Unrelated, &c.English.Related, &c.English.Floor,
		&c.Chinese.Unrelated, &c.Chinese.Related, &c.Chinese.Floor}
}

// Calibration returns the calibration of a space.
func (s *Store) Calibration(ctx context.Context, space memory.Space) (memory.Calibration, error) {
	c, _, err := first(ctx, s.conn, calibrationFields,
		`SELECT `+calibrationColumns+` FROM calibrations WHERE model = $1 AND dim = $2`, space.Model, space.Dim)
	return c, s.fault(err, "read the calibration of an embedding model")
}

// KeepCalibration stores a calibration unless the space has one.
func (s *Store) KeepCalibration(
	ctx context.Context, space memory.Space, c memory.Calibration,
) (memory.Calibration, error) {
	_, err := s.exec(ctx, `INSERT INTO calibrations (model, dim, `+calibrationColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (model, dim) DO NOTHING`,
		space.Model, space.Dim, c.English.Unrelated, c.English.Related, c.English.Floor,
		c.Chinese.Unrelated, c.Chinese.Related, c.Chinese.Floor)
	if err != nil {
		return memory.Calibration{}, s.fault(err, "store the calibration of an embedding model")
	}
	return s.Calibration(ctx, space)
}
