package api

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"go.uber.org/zap"

	"hippocampus/exchange"
	"hippocampus/internal/memory"
)

// Exchanger carries memories out and in; exchange implements it.
type Exchanger interface {
	Export(ctx context.Context, what exchange.Selection, w io.Writer) error
	Import(ctx context.Context, appID string, stream io.Reader, check func(line []byte) error) (exchange.Report, error)
}

const (
	ndjson    = "application/x-ndjson"
	lineDepth = 6 // how much deeper a history nests what a write held
)

// exportMemories streams. What goes wrong after the first byte ends the stream
// with a line that says so, and the connection, so that nobody takes it for whole.
func (s *Server) exportMemories(ctx context.Context, r *request) error {
	embeddings, _ := strconv.ParseBool(r.query.Get("embeddings")) // openapi.yaml has held it to a boolean
	var c checks
	what := exchange.Selection{AppID: r.key.AppID, Embeddings: embeddings}
	if r.query.Has("user_id") {
		what.UserID = c.owner("query.user_id", r.key, r.query.Get("user_id")).UserID
	}
	if err := c.err(); err != nil {
		return err
	}
	if what.UserID == "" && r.key.Role != memory.RoleAdmin {
		return memory.Errorf(memory.KindForbidden,
			"an export of every user needs a key of role %s; the one sent has role %s and may name a user_id", memory.RoleAdmin, r.key.Role)
	}
	out := s.flow(r, (*http.ResponseController).SetWriteDeadline)
	defer out.end()
	r.Response().Header().Set(echo.HeaderContentType, ndjson)
	err := s.Exchange.Export(ctx, what, out)
	if err == nil {
		err = out.flush()
	}
	if err == nil || !out.begun {
		return err
	}
	if ctx.Err() == nil {
		s.Logger.Error("an export broke off", zap.String("request_id", r.Response().Header().Get(echo.HeaderXRequestID)), zap.Error(err))
	}
	if exchange.WriteError(out, problemOf(err).Detail) == nil {
		_ = out.flush() // the connection is given up in any case
	}
	r.Set(abortKey, true)
	return err
}

// importMemories reads a stream to its end and answers what became of it.
func (s *Server) importMemories(ctx context.Context, r *request) error {
	if err := checkMedia(r, ndjson); err != nil {
		return err
	}
	in := s.flow(r, (*http.ResponseController).SetReadDeadline)
	defer in.end()
	report, err := s.Exchange.Import(ctx, r.key.AppID, in, s.checkLine)
	if err != nil {
		in.abandon()
	}
	if in.stalled.Load() { // it still listens, though net/http takes it for gone
		r.SetRequest(r.Request().WithContext(context.WithoutCancel(ctx)))
		return echo.NewHTTPError(http.StatusRequestTimeout, "The stream stood still for "+in.limit.String()+". Send it again: what has been imported is skipped.")
	}
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, report)
}

// checkLine holds a line of an import to openapi.yaml.
func (s *Server) checkLine(raw []byte) error {
	value, fault := parseNested(raw, maxDepth+lineDepth)
	if fault != nil {
		return exchange.Wrong([]memory.Field{*fault})
	}
	schema := s.contract.doc.Components.Schemas["ExportLine"].Value
	return exchange.Wrong(fieldErrors("", schema.VisitJSON(value, openapi3.VisitAsRequest(), openapi3.MultiErrors())))
}
