package frame

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"hippocampus/internal/memory"
	"hippocampus/internal/tracing"
)

// The keys of the values that a request's context carries to the access log.
const (
	callerKey = "caller" // memory.Key
	errorKey  = "error"  // error
	failKey   = "fail"   // func(http.ResponseWriter, int, Problem), see Mount.Fail
)

const maxRequestID = 128 // bytes

// identify gives every request an id: the id of the mount's request that made it, else the client's X-Request-Id if it
// has 1 to 128 printable ASCII characters, else a new one.
func identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, made := c.Request().Context().Value(admittedID{}).(string)
		if !made {
			id = c.Request().Header.Get(echo.HeaderXRequestID)
		}
		if !isRequestID(id) {
			id = memory.NewID()
		}
		c.Response().Header().Set(echo.HeaderXRequestID, id)
		return next(c)
	}
}

func isRequestID(id string) bool {
	for _, b := range []byte(id) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxRequestID
}

// access logs one line per request, without contents, queries or user ids: it
// names the route by its pattern.
func (s *Server) access(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		start := s.now()
		err := next(c)
		status := c.Response().Status
		entry := s.log.Check(logLevel(c.Path(), status), "request")
		if entry == nil {
			return err
		}
		fields := []zap.Field{
			zap.String("method", method(c.Request())),
			zap.String("route", pattern(c)),
			zap.Int("status", status),
			zap.Duration("duration", s.now().Sub(start)),
			zap.Int64("bytes", c.Response().Size),
			zap.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
			tracing.Log(c.Request().Context()),
		}
		if key, ok := c.Get(callerKey).(memory.Key); ok {
			fields = append(fields, zap.String("app", key.AppID), zap.String("key", key.ID))
		}
		if cause, ok := c.Get(errorKey).(error); ok && status >= http.StatusInternalServerError {
			fields = append(fields, zap.Error(cause))
		}
		entry.Write(fields...)
		return err
	}
}

// logLevel is the level of a request's line: low for probes, which are frequent.
func logLevel(path string, status int) zapcore.Level {
	switch {
	case status >= http.StatusInternalServerError:
		return zapcore.ErrorLevel
	case slices.Contains([]string{"/healthz", "/readyz", "/metrics"}, path):
		return zapcore.DebugLevel
	}
	return zapcore.InfoLevel
}

// pattern is the pattern of a request's route.
func pattern(c echo.Context) string {
	if path := c.Path(); path != "" {
		return path
	}
	return "unknown"
}

// method is the method of a request, or "other" for an uncommon one.
func method(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions:
		return r.Method
	}
	return "other"
}

// recoverPanics turns a handler's panic into an internal error.
func (s *Server) recoverPanics() echo.MiddlewareFunc {
	return middleware.RecoverWithConfig(middleware.RecoverConfig{
		DisableStackAll: true,
		LogErrorFunc: func(c echo.Context, err error, stack []byte) error {
			s.log.Error("panic in a handler", zap.String("route", pattern(c)),
				zap.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
				tracing.Log(c.Request().Context()), zap.Error(err), zap.ByteString("stack", stack))
			return memory.Errorf(memory.KindInternal, "panic in a handler: %s", fmt.Sprint(err))
		},
	})
}
