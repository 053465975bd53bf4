package frame

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// consolePath is relative, so that it also leads to the console behind a proxy that adds a prefix.
const consolePath = "console/"

// AddPages serves pages for people, which need no key and are not part of the contract: documentation at /docs, and a
// console, to which browsers are redirected from / and /console. Either may be nil.
func (s *Server) AddPages(documentation, console http.Handler) {
	if documentation != nil {
		s.echo.GET("/docs", echo.WrapHandler(documentation))
		s.echo.GET("/docs/*", echo.WrapHandler(documentation))
	}
	if console == nil {
		return
	}
	redirect := func(c echo.Context) error { return c.Redirect(http.StatusFound, consolePath) }
	s.echo.GET("/", func(c echo.Context) error {
		c.Response().Header().Add(echo.HeaderVary, echo.HeaderAccept)
		if !strings.Contains(c.Request().Header.Get(echo.HeaderAccept), "text/html") {
			return echo.ErrNotFound
		}
		return redirect(c)
	})
	s.echo.GET("/console", redirect)
	s.echo.GET("/console/*", echo.WrapHandler(console))
}
