"""The addresses of the questionnaire."""

from django.urls import path

from configurator.wizard import views

app_name = "wizard"
urlpatterns = [
    path("", views.start, name="start"),
    path("plan/<str:token>/", views.plan, name="plan"),
    path("plan/<str:token>/workload.<str:form>", views.workload, name="workload"),
    path("plan/<str:token>/copy/", views.copy, name="copy"),
    path("plan/<str:token>/<slug:slug>/", views.step, name="step"),
]
