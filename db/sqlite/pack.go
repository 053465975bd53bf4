package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	"modernc.org/sqlite"
)

// pack is the aggregate function pack of SQL: a blob of its arguments of all rows, which are numbers, in 8 bytes each.
// An argument takes a fraction of the time of a column of a row, for which the driver locks its connection twice.
type pack struct{ numbers []byte }

// packs are unused, and empty.
var packs = sync.Pool{New: func() any { return &pack{} }}

// errPack is why connections lack the function; nil: they have it. It is registered while the program starts, since the
// driver reads its functions without a lock whenever it opens a connection.
var errPack = sqlite.RegisterFunction("pack", &sqlite.FunctionImpl{
	NArgs: -1, Deterministic: true,
	MakeAggregate: func(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return packs.Get().(*pack), nil },
})

func (p *pack) Step(_ *sqlite.FunctionContext, row []driver.Value) error {
	for _, value := range row {
		bits := uint64(0)
		switch v := value.(type) {
		case int64:
			bits = uint64(v)
		case float64:
			bits = math.Float64bits(v)
		default:
			return fmt.Errorf("pack takes numbers, not %v", v)
		}
		p.numbers = binary.LittleEndian.AppendUint64(p.numbers, bits)
	}
	return nil
}

func (p *pack) WindowValue(*sqlite.FunctionContext) (driver.Value, error) { return p.numbers, nil }

func (p *pack) WindowInverse(*sqlite.FunctionContext, []driver.Value) error {
	return errors.New("pack is no window function")
}

func (p *pack) Final(*sqlite.FunctionContext) {
	p.numbers = p.numbers[:0]
	packs.Put(p)
}
