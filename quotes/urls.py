"""The addresses of proposals and quotes."""

from django.urls import path

from quotes import branding, views

app_name = "quotes"
urlpatterns = [
    path("accent.css", branding.accent_css, name="accent"),
    path("estimate/<token:token>/", views.estimate, name="estimate"),
    path("proposal/<token:token>/", views.proposal, name="proposal"),
    path("proposal/<token:token>/proposal.json", views.proposal_json, name="proposal_json"),
    path("proposal/<token:token>/costs/", views.costs, name="costs"),
    path(
        "proposal/<token:token>/costs/<str:tier>.xlsx", views.proposal_costs_xlsx, name="proposal_costs_xlsx"
    ),
    path("proposal/<token:token>/site-sheet/<str:tier>.pdf", views.proposal_sheet, name="proposal_sheet"),
    path("proposal/<token:token>/<str:tier>/ready-to-run.zip", views.launch_archive, name="launch"),
    path(
        "proposal/<token:token>/<str:tier>/ready-to-run/<str:folder>/<str:name>",
        views.launch_file,
        name="launch_file",
    ),
    path("proposal/<token:token>/request/<str:tier>/", views.request_quote, name="request"),
    path("q/<token:token>/", views.quote, name="quote"),
    path("q/<token:token>/quote.pdf", views.quote_pdf, name="pdf"),
    path("q/<token:token>/site-sheet.pdf", views.quote_sheet, name="sheet"),
    path("q/<token:token>/quote.xlsx", views.quote_xlsx, name="xlsx"),
    path("q/<token:token>/ready-to-run.zip", views.quote_launch, name="quote_launch"),
    path("q/<token:token>/costs.xlsx", views.quote_costs_xlsx, name="costs_xlsx"),
    path("q/<token:token>/accept/", views.accept, name="accept"),
    path("q/<token:token>/decline/", views.decline, name="decline"),
]
