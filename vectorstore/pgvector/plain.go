package pgvector

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"hippocampus/vectorstore"
)

// headerSize is the size of what precedes the numbers in the binary form of a
// vector: the dimension and 0, of two bytes each (vector_send of pgvector).
const headerSize = 4

// binarySize is the size of a vector in its binary form.
func binarySize(dim int) int { return headerSize + 4*dim }

// argument is a vector as the argument of a statement. It suits both kinds of
// tables, so that a rebuild may replace one by the other while others write:
// pgx sends the binary form to a column of type bytea, and text to one of type vector.
type argument []float32

// BytesValue implements pgtype.BytesValuer.
func (a argument) BytesValue() ([]byte, error) {
	form := make([]byte, 0, binarySize(len(a)))
	form = binary.BigEndian.AppendUint16(form, uint16(len(a)))
	form = binary.BigEndian.AppendUint16(form, 0)
	for _, x := range a {
		form = binary.BigEndian.AppendUint32(form, math.Float32bits(x))
	}
	return form, nil
}

// TextValue implements pgtype.TextValuer.
func (a argument) TextValue() (pgtype.Text, error) {
	form := make([]byte, 0, 16*len(a))
	form = append(form, '[')
	for i, x := range a {
		if i > 0 {
			form = append(form, ',')
		}
		form = strconv.AppendFloat(form, float64(x), 'g', -1, 32)
	}
	return pgtype.Text{String: string(append(form, ']')), Valid: true}, nil
}

// comparePlain compares the query with each of the owner's records that pass its
// filter, in this process. The binary form of a vector is the same in both kinds of tables.
func (s *Store) comparePlain(ctx context.Context, q vectorstore.Query) ([]vectorstore.Hit, error) {
	sql, args := s.plainSQL(q)
	formats := pgx.QueryResultFormats{pgx.TextFormatCode, pgx.BinaryFormatCode}
	rows, err := s.pool.Query(ctx, sql, append([]any{formats}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	length := norm(q.Embedding)
	var hits []vectorstore.Hit
	for rows.Next() {
		raw := rows.RawValues()
		if len(raw[1]) != binarySize(s.space.Dim) {
			return nil, fmt.Errorf("the vector of %s has %d bytes", raw[0], len(raw[1]))
		}
		similarity := cosine(raw[1][headerSize:], q.Embedding, length)
		hits = append(hits, vectorstore.Hit{ID: string(raw[0]), Similarity: similarity})
	}
	slices.SortFunc(hits, vectorstore.CompareHits)
	return hits[:min(len(hits), q.Limit)], rows.Err()
}

// plainSQL is the statement of comparePlain.
func (s *Store) plainSQL(q vectorstore.Query) (sql string, args []any) {
	where, args := filter(q)
	return `SELECT id, embedding FROM ` + s.table + ` WHERE ` + where, args
}

// cosine is the cosine of a stored vector, in big-endian numbers, and a vector of
// the given length.
func cosine(stored []byte, v []float32, length float64) float64 {
	var product, square float64
	for i, x := range v {
		y := float64(math.Float32frombits(binary.BigEndian.Uint32(stored[4*i:])))
		product += float64(x) * y
		square += y * y
	}
	return min(max(product/(length*math.Sqrt(square)), -1), 1)
}

func norm(v []float32) float64 {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	return math.Sqrt(square)
}
