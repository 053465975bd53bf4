"use strict";

// Shows the document that the query names, else the first one.
const links = [...document.querySelectorAll("[data-document]")];
const wanted = new URLSearchParams(location.search).get("document");
const chosen = links.find((link) => link.dataset.document === wanted) ?? links[0];
chosen.setAttribute("aria-current", "page");

SwaggerUIBundle({
  url: document.getElementById("reference").dataset.base + chosen.dataset.document,
  dom_id: "#reference",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  docExpansion: "list",
  filter: true,
  validatorUrl: null, // else the document would be sent to a validator elsewhere
});
