package api

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"go.uber.org/zap"

	"hippocampus/exchange"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// Exchanger exports, imports and clones; package exchange implements it.
type Exchanger interface {
	Export(ctx context.Context, what exchange.Selection, w io.Writer) error
	Import(
		ctx context.Context, appID string, stream io.Reader, check func(line []byte) ([]byte, error),
	) (exchange.Report, error)
	Clone(
		ctx context.Context, from, into memory.Owner, admit func(line []byte) error,
	) (exchange.Cloned, error)
}

const (
	ndjson    = "application/x-ndjson"
	lineDepth = 6 // levels by which an export line nests metadata deeper than a write does
)

type exchangeHandlers struct {
	exchanger    Exchanger
	quotas       *quotas
	slots        *frame.Slots
	stall        time.Duration // how long a stream may transfer nothing
	countRefused func(error)
	now          func() time.Time
	log          *zap.Logger
}

func (h exchangeHandlers) register(r *frame.Routes) {
	r.AddStream("GET /v1/export", memory.RoleRead, h.slots.Bound(h.export))
	r.AddStream("POST /v1/import", memory.RoleAdmin, h.slots.Bound(h.importStream))
	r.Add("POST /v1/users/:user_id/clone", memory.RoleAdmin, h.slots.Bound(frame.WithBody(h.clone)))
}

// export streams. An error after the first byte ends the stream with an error
// line and cuts the connection, so that no client takes the export for whole.
func (h exchangeHandlers) export(ctx context.Context, r *frame.Request) (any, error) {
	embeddings, _ := strconv.ParseBool(r.Query.Get("embeddings")) // openapi.yaml admits only booleans
	what := exchange.Selection{AppID: r.Key.AppID, Embeddings: embeddings}
	if r.Query.Has("user_id") {
		what.UserID = r.QueryOwner().UserID
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if what.UserID == "" && !r.Key.Role.Includes(memory.RoleAdmin) {
		return nil, memory.Errorf(memory.KindForbidden,
			"an export of every user needs a key of role %s; the one sent has role %s and may name a user_id",
			memory.RoleAdmin, r.Key.Role)
	}
	out := frame.NewOutflow(r, h.stall)
	defer out.Close()
	r.Response().Header().Set("Content-Type", ndjson)
	err := h.exchanger.Export(ctx, what, out)
	if err == nil {
		err = out.Flush()
	}
	err = cmp.Or(frame.Revoked(ctx), err)
	if err == nil || !out.HasBegun() {
		return nil, err
	}
	if ctx.Err() == nil {
		requestID := r.Response().Header().Get("X-Request-Id")
		h.log.Error("an export failed midway", zap.String("request_id", requestID), zap.Error(err))
	}
	if exchange.WriteError(out, frame.ProblemOf(err).Detail) == nil {
		_ = out.Flush() // the connection is cut in any case
	}
	r.CutConnection()
	return nil, err
}

// importStream reads a stream to its end and answers with a report.
func (h exchangeHandlers) importStream(ctx context.Context, r *frame.Request) (any, error) {
	if err := admitKey(r); err != nil {
		return nil, err
	}
	if err := frame.CheckMedia(r, ndjson); err != nil {
		return nil, err
	}
	in := frame.NewInflow(r, h.stall)
	defer in.Close()
	stop := context.AfterFunc(ctx, in.Interrupt) // a read does not end with ctx
	defer stop()
	report, err := h.exchanger.Import(ctx, r.Key.AppID, in, func(line []byte) ([]byte, error) {
		line, _ = frame.CleanTexts(line)
		if err := checkLine(r.Line, line); err != nil {
			return line, err
		}
		return line, h.admitLine(ctx, r.Key.AppID, line)
	})
	if err != nil {
		in.Drain()
	}
	if err := frame.Revoked(ctx); err != nil {
		r.SetRequest(r.Request().WithContext(context.WithoutCancel(ctx))) // as below
		return nil, err
	}
	if in.HasStalled() { // net/http has ended the request's context, but the client still reads
		r.SetRequest(r.Request().WithContext(context.WithoutCancel(ctx)))
		return nil, frame.StatusError(http.StatusRequestTimeout,
			"The stream stood still for "+h.stall.String()+". Send it again: what has been imported is skipped.")
	}
	return report, err
}

// admitLine refuses a line that exceeds a quota of the app.
func (h exchangeHandlers) admitLine(ctx context.Context, appID string, line []byte) error {
	err := h.quotas.admit(ctx, appID, line, imported)
	h.countRefused(err)
	return err
}

// imported is the addition of a line of an export.
func imported(line []byte) (a addition) {
	var l struct {
		Memory  *written          `json:"memory"`
		Events  []json.RawMessage `json:"events"`
		Version json.RawMessage   `json:"instruction_version"`
	}
	_ = json.Unmarshal(line, &l)
	if l.Memory != nil {
		a = l.Memory.addition()
	}
	a.Versions = len(l.Events)
	if l.Version != nil {
		a.Versions++
	}
	return a
}

// checkLine checks a line of an import against its schema in openapi.yaml.
func checkLine(schema *openapi3.Schema, raw []byte) error {
	value, fault := frame.ParseBounded(raw, frame.MaxDepth+lineDepth, math.MaxInt)
	if fault != nil {
		return exchange.Wrong([]memory.Field{*fault})
	}
	return exchange.Wrong(frame.FaultsOf(schema, value))
}
