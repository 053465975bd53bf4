package frame

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// preflightAge is how long a browser remembers what it may send.
const preflightAge = 10 * time.Minute

// crossOrigin lets pages of other origins call the API. Requests carry a key and no cookies, so that a page can do what
// its key allows, and cannot act as the person at the browser.
func crossOrigin(origins []string) echo.MiddlewareFunc {
	return middleware.CORSWithConfig(middleware.CORSConfig{
		AllowOrigins: origins,
		AllowMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		// AllowHeaders is empty: the headers that the browser asks for are allowed.
		ExposeHeaders: []string{
			echo.HeaderXRequestID, echo.HeaderRetryAfter, "ETag", "Mcp-Session-Id", "X-Hippocampus-Memory",
		},
		MaxAge: int(preflightAge.Seconds()),
	})
}
