"""The addresses of proposals and quotes."""

from django.urls import path

from quotes import branding, views

app_name = "quotes"
urlpatterns = [
    path("accent.css", branding.accent_css, name="accent"),
    path("estimate/<str:token>/", views.estimate, name="estimate"),
    path("proposal/<str:token>/", views.proposal, name="proposal"),
    path("proposal/<str:token>/proposal.json", views.proposal_json, name="proposal_json"),
    path("proposal/<str:token>/costs/", views.costs, name="costs"),
    path("proposal/<str:token>/costs/<str:tier>.xlsx", views.proposal_costs_xlsx, name="proposal_costs_xlsx"),
    path("proposal/<str:token>/site-sheet/<str:tier>.pdf", views.proposal_sheet, name="proposal_sheet"),
    path("proposal/<str:token>/<str:tier>/ready-to-run.zip", views.launch_archive, name="launch"),
    path(
        "proposal/<str:token>/<str:tier>/ready-to-run/<str:folder>/<str:name>",
        views.launch_file,
        name="launch_file",
    ),
    path("proposal/<str:token>/request/<str:tier>/", views.request_quote, name="request"),
    path("q/<str:token>/", views.quote, name="quote"),
    path("q/<str:token>/quote.pdf", views.quote_pdf, name="pdf"),
    path("q/<str:token>/site-sheet.pdf", views.quote_sheet, name="sheet"),
    path("q/<str:token>/quote.xlsx", views.quote_xlsx, name="xlsx"),
    path("q/<str:token>/ready-to-run.zip", views.quote_launch, name="quote_launch"),
    path("q/<str:token>/costs.xlsx", views.quote_costs_xlsx, name="costs_xlsx"),
    path("q/<str:token>/accept/", views.accept, name="accept"),
    path("q/<str:token>/decline/", views.decline, name="decline"),
]
