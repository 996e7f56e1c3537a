"""The addresses of the questionnaire."""

from django.urls import path

from configurator.wizard import plan_views, views

app_name = "wizard"
urlpatterns = [
    path("", views.start, name="start"),
    path("plan/<token:token>/", plan_views.plan, name="plan"),
    path("plan/<token:token>/workload.<str:form>", plan_views.workload, name="workload"),
    path("plan/<token:token>/copy/", plan_views.copy, name="copy"),
    path("plan/<token:token>/<slug:slug>/", views.step, name="step"),
]
