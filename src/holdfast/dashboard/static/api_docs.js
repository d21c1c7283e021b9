"use strict";
// The reference of the API, drawn by Swagger UI from our own document. It asks no other site.
window.addEventListener("DOMContentLoaded", () => {
  SwaggerUIBundle({
    url: "/api/v1/openapi.json",
    domNode: document.getElementById("api-docs"),
    deepLinking: true,
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
    tryItOutEnabled: false,
  });
});
